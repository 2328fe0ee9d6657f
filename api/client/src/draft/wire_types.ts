// The bodies of the draft's own endpoints.
import type { Schemas } from '../types.js';

export type AnswerChange = Schemas['AnswerChange'];
export type AnswerPlace = Schemas['AnswerPlace'];
export type AnswerValue = Schemas['AnswerValue'];
export type AnswerView = Schemas['AnswerView'];
export type SessionReceipt = Schemas['SessionReceipt'];
export type SessionView = Schemas['SessionView'];

export type DraftContent = { answers: AnswerChange[]; withdrawn: AnswerPlace[] };

export type AutosaveReceipt = {
  sessionId: string; stamp: string; etag: number; baseVersion: string | null; holder: string | null;
  writeSeq: number; leaseGeneration: number; leaseExpiresAt: string | null;
};

export type DraftReceipt = AutosaveReceipt & { commandId: string; copyId?: string };

export type DraftView = {
  sessionId: string; etag: number; baseVersion: string | null; formVersion: number | null; holder: string | null;
  writeSeq: number; leaseGeneration: number; leaseExpiresAt: string | null; lastActivityAt: string | null;
  content: DraftContent | null;
};

export type CopyReason = string;

export type DraftCopyView = {
  id: string; state: string; reason: CopyReason; baseVersion: string | null; formVersion: number | null;
  holder: string | null; places: number; keptAt: string; content?: DraftContent;
};

/** What a refusal says of the draft as it is stored. */
export type DraftMembers = {
  copyId?: string | null; etag?: number; writeSeq?: number; holder?: string | null; leaseGeneration?: number;
  leaseExpiresAt?: string | null; base?: string; limit?: string; current?: string | number | null;
};

// The description's shapes, by the names this folder uses.
import type { Schemas } from '../types.js';

export type AnswerChange = Schemas['AnswerChangeInput'];
export type AnswerPlace = Schemas['AnswerPlaceInput'];
export type AnswerValue = Schemas['AnswerValue'];
export type AnswerView = Schemas['AnswerView'];
export type AutosaveReceipt = Schemas['AutosaveReceipt'];
export type DraftContent = Schemas['DraftContentInput'];
export type DraftCopyPage = Schemas['DraftCopyPage'];
export type DraftCopyView = Schemas['DraftCopyView'];
export type DraftReceipt = Schemas['DraftReceipt'];
export type DraftView = Schemas['DraftView'];
export type FixRequest = Schemas['FixRequest'];
export type PatchDraftRequest = Schemas['PatchDraftRequest'];
export type PutDraftRequest = Schemas['PutDraftRequest'];
export type SaveRequest = Schemas['SaveRequest'];
export type SessionReceipt = Schemas['SessionReceipt'];
export type SessionView = Schemas['SessionView'];
export type StaleAnswer = Schemas['StaleAnswer'];
export type UpgradeRequest = Schemas['UpgradeRequest'];
export type WithdrawRequest = Schemas['WithdrawRequest'];

/** What refusals say of the draft as it is stored, each some of it. */
export type DraftMembers =
  & Partial<Pick<Schemas['DraftLeaseHeld'], 'copyId' | 'etag' | 'writeSeq' | 'holder' | 'leaseGeneration' | 'leaseExpiresAt'>>
  & Partial<Pick<Schemas['StaleBase'], 'base'>> & Partial<Pick<Schemas['SizeLimitExceeded'], 'limit'>>;

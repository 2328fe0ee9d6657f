// Coming back: what an earlier page of this tab, or a tab that was closed, had typed and not brought to the service.
import type { Timers } from '../environment.js';
import { changeOf, contentFrom, keyOf, saysTheSame, type Change } from './content.js';
import type { Desk, Stored } from './desk.js';
import type { LocalText, TypedRecord } from './local.js';
import type { DraftServer } from './server.js';
import type { Tab } from './tabs.js';
import type { Writer } from './writer.js';

export type RestoreOptions = {
  desk: Desk;
  writer: Writer;
  server: DraftServer;
  local: LocalText;
  tab: Tab;
  timers: Timers;
  /** A Save that was resumed and took effect: what was typed from the version before it is typed from the new one. */
  landed: { from: string | null; to: string } | null;
};

const ABANDONED_MS = 10 * 60_000; // a tab that cannot be asked has not typed for so long

export async function restore(options: RestoreOptions): Promise<void> {
  const { desk, writer, tab, local } = options;
  const before = desk.stored;
  if (writer.isHeld(before) && await tab.isClosed(before!.holder!) === true) await inherit(options);
  const held = writer.isHeld(desk.stored);
  if (held) writer.block = { kind: 'readOnly', holder: desk.stored!.holder, until: desk.stored!.leaseExpiresAt, problem: null };
  for (const record of local.typed()) {
    if (!await isOurs(record, options)) continue;
    const isKept = !held && fits(record, before, options) ? lay(record, desk, writer) : putAside(record, options);
    if (isKept && record.holder !== tab.id) local.dropTyped(record.holder);
  }
  writer.persist();
}

/** The tab that held the draft was closed in this browser: nobody types there any more. */
async function inherit({ server, tab, desk }: RestoreOptions): Promise<void> {
  const taken = await server.takeOver(tab.id, desk.stored!.leaseGeneration, { patienceMs: 5_000 });
  // Whatever else it was answered, the draft is then shown read only and can be taken over by hand.
  if (taken.outcome === 'Done' && 'receipt' in taken && taken.receipt.etag === desk.stored!.etag) desk.leased(taken.receipt);
}

async function isOurs(record: TypedRecord, { tab, timers }: RestoreOptions): Promise<boolean> {
  if (record.holder === tab.id) return true;
  return await tab.isClosed(record.holder) ?? timers.wall() - record.touchedAt > ABANDONED_MS;
}

/**
 * Has nothing been written since this was typed but what this tab itself had under way? Then the draft is as it was; or it
 * is under the lease it was under, and the step of its etag is that of one autosave, or of the Save that was found out. To
 * hold the draft now is not enough: it may have been taken over since, or a copy adopted without an answer.
 */
function fits(record: TypedRecord, before: Stored | null, { desk, landed }: RestoreOptions): boolean {
  const isSaved = landed !== null && record.baseVersion === landed.from;
  if ((isSaved ? landed.to : record.baseVersion) !== desk.base.versionId) return false;
  if (before === null || record.etag === before.etag) return before !== null || record.etag === null;
  const isSame = record.etag === null ? before.leaseGeneration === 1 : before.leaseGeneration === record.leaseGeneration;
  const writes = before.writeSeq - record.writeSeq, steps = before.etag - (record.etag ?? 0);
  return isSame && record.holder === before.holder && (writes === 0 || writes === 1) && steps === writes + (isSaved ? 1 : 0);
}

function lay(record: TypedRecord, desk: Desk, writer: Writer): boolean {
  const changes = new Map<string, Change>();
  for (const [key, change] of contentFrom(record.content)) {
    const known = desk.base.answers.get(key);
    if (known === undefined && change.kind === 'withdrawn') continue;
    if (known !== undefined && saysTheSame(change, changeOf(known)) && !desk.typed.has(key)) continue;
    const isOlder = change.kind === 'answer' && known !== undefined;
    changes.set(key, isOlder ? { ...change, answer: { ...change.answer, baseRevision: known.revision } } : change);
  }
  desk.lay(changes, record.reverted.map(keyOf));
  writer.persist();
  return writer.isKeptHere;
}

function putAside(record: TypedRecord, { desk, writer }: RestoreOptions): boolean {
  return writer.setAside(contentFrom(record.content), desk.base, desk.stored, record.baseVersion, 'leftBehind');
}

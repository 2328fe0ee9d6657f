// What a front end shows of a draft.
import type { AnyProblem, Schemas } from '../types.js';

/**
 * idle      nothing is typed that is not in a version
 * dirty     typed, about to be sent
 * saving    being sent, or a Save is under way
 * saved     the service has the draft; it is not a version yet
 * checking  "Checking whether your save landed": the answer did not come, it is being asked for
 * offline   the service cannot be reached; going on typing is safe
 * readOnly  another tab holds the draft: offer to take over
 * stale     session or draft moved on meanwhile: offer to load what is there; what was typed is kept as a copy
 * refused   the service will not have it, see `problem`; what was typed stays, `retry` tries again
 * closed    after close()
 */
export type DraftStatus = 'idle' | 'dirty' | 'saving' | 'saved' | 'checking' | 'offline' | 'readOnly' | 'stale' | 'refused' | 'closed';

export type DraftState = {
  readonly status: DraftStatus;
  /** May the person type? When not, what they type all the same is kept in this browser. */
  readonly canEdit: boolean;
  /** Who holds it, while `readOnly`; `until`: when it lapses, if they do not go on. */
  readonly heldBy: { readonly holder: string | null; readonly until: string | null } | null;
  /** The refusal behind the status, with its `detail` for the person. */
  readonly problem: AnyProblem | null;
  /** Places typed that are in no version yet. */
  readonly changed: number;
  /** Of those, places that only this browser has. */
  readonly unsent: number;
  /** False: this browser had no room, what is unsent is only in this page. Tell the person not to close it. */
  readonly isKeptHere: boolean;
  readonly versionId: string | null;
  readonly sessionState: Schemas['SessionState'] | null;
};

export const isSameState = (a: DraftState, b: DraftState): boolean =>
  a.status === b.status && a.canEdit === b.canEdit && a.problem === b.problem && a.changed === b.changed && a.unsent === b.unsent
  && a.isKeptHere === b.isKeptHere && a.versionId === b.versionId && a.sessionState === b.sessionState
  && a.heldBy?.holder === b.heldBy?.holder && a.heldBy?.until === b.heldBy?.until;

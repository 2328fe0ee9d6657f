// What the steps of a draft end in, told apart by `outcome`.
import type { Done, Result } from '../commands.js';
import type { AnyProblem, OperationOf, ProblemOf } from '../types.js';
import type { SessionReceipt } from './shapes.js';

type Session = '/v1/projects/{project}/studies/{study}/forms/{form}/session';

export type SaveProblem = ProblemOf<OperationOf<`${Session}/${'save' | 'complete' | 'fix' | 'upgrade' | 'withdraw'}`, 'post'>>;

/** What could not be read, and why. */
export type ReadFailure =
  | (AnyProblem & { retryAfterMs: number | null })
  | { outcome: 'Unanswered'; cause: unknown }
  | { outcome: 'Unexpected'; status: number; text: string };

export type Fetched<T> = { outcome: 'Done'; value: T } | ReadFailure;

/** Not sent: the draft must be looked at first; `status` says how. */
export type Blocked = { outcome: 'Blocked'; status: 'readOnly' | 'stale' | 'refused' | 'closed'; problem: AnyProblem | null };

/** Not sent: what is typed could not be brought to the service, which cannot be reached or is busy. It goes on trying. */
export type NotSent = { outcome: 'NotSent' };

/** This browser has no room for a copy of what is typed: nothing was done. */
export type NoRoom = { outcome: 'NoRoom' };

export type SaveResult = Result<SessionReceipt, SaveProblem> | Blocked | NotSent;

/** Of a step whose success has nothing more to say. */
export type StepResult = { outcome: 'Done' } | Exclude<Result<unknown>, Done<unknown>> | ReadFailure | Blocked | NotSent | NoRoom;

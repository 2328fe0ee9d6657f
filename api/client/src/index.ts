export { Client, type ClientOptions } from './client.js';
export { type Patience } from './attempts.js';
export {
  Commands, type CommandOptions, type Done, type Pending, type Refusal, type Result, type Unanswered, type Unexpected,
} from './commands.js';
export { Draft, type DraftContext, type DraftOptions, type Opened } from './draft/draft.js';
export { type Place } from './draft/content.js';
export { Copies, type Copy } from './draft/copies.js';
export { type Shown } from './draft/desk.js';
export {
  type Blocked, type Fetched, type NoRoom, type NotSent, type ReadFailure, type SaveProblem, type SaveResult, type StepResult,
} from './draft/outcomes.js';
export { type SessionPath } from './draft/server.js';
export { type DraftState, type DraftStatus } from './draft/state.js';
export { type SubmitOptions } from './draft/submit.js';
export { claimTab, type Channel, type Locks, type Tab, type TabOptions } from './draft/tabs.js';
export { memoryStore, systemTimers, useUuid, webStore, type TextStore, type Timers } from './environment.js';
export { Exports, type Exported, type ExportResult } from './exports.js';
export { Operations, type ImportOptions, type OperationResult, type OperationView } from './operations.js';
export { watchPage } from './page.js';
export { ReadFailed, Reads, type Read, type ReadResult } from './reads.js';
export {
  type AnswerOf, type AnyProblem, type OperationOf, type PathOf, type ProblemOf, type RequestOf, type Schemas,
  type components, type operations, type paths,
} from './types.js';
export { Wire, type WireOptions } from './wire.js';

// The generated types, under names one can say: what an operation takes, and what it may answer.
import type { components, paths } from './api.js';

export type { components, operations, paths } from './api.js';
export type Schemas = components['schemas'];

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have this method. */
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, object> ? P : never }[keyof paths];

export type OperationOf<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;

type Json<R> = R extends { content: { 'application/json': infer T } } ? T : never;
type ProblemJson<R> = R extends { content: { 'application/problem+json': infer T } } ? T : never;

/** What is sent: the path's ids, the query, the body. A part is required when the operation requires it. */
export type RequestOf<O> =
  & (O extends { parameters: { path: infer T } } ? { path: T } : { path?: never })
  & (O extends { parameters: { query?: infer T } } ? { query?: T } : { query?: never })
  & (O extends { requestBody: { content: { 'application/json': infer T } } } ? { body: T } : { body?: never });

/** What a success carries. */
export type AnswerOf<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 | 202 ? Json<R[S]> : never }[keyof R] : never;

/** Every problem the operation may answer, told apart by `outcome`. */
export type ProblemOf<O> = O extends { responses: infer R } ? { [S in keyof R]: ProblemJson<R[S]> }[keyof R] : never;

/**
 * Any problem there is, told apart by `outcome`. A newer service may answer one that is not here: go by `retryable`, and
 * show `detail` to the person.
 */
export type AnyProblem = Extract<
  Schemas[keyof Schemas], { type: string; title: string; detail: string; outcome: string; retryable: boolean }>;

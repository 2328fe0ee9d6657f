// The one thing taken from Node, declared here so that nothing else of Node's is in reach of the sources.
declare module 'node:crypto' {
  export function randomUUID(): string;
}

/** How it is tried: a test gives its own. */
interface Trying {
  readonly rename: (from: string, to: string) => void;
  readonly platform: NodeJS.Platform;
  readonly wait: (milliseconds: number) => void;
}

/**
 * Puts a draft in its place, in one step: whoever reads finds what was there or all of the new. On Windows it waits for those who
 * read what was there.
 * @throws as `renameSync` does
 */
export function putInPlace(draft: string, place: string, trying?: Trying): void;

/** What the user's code was made of when it was loaded. */

/** A file of code as it was loaded. */
export interface SourceText {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

export interface Prepared {
  /** SHA-256 of its code. */
  readonly bundle?: string;
  /** The file that the config names, then those that it imports. */
  readonly sources?: readonly SourceText[];
  readonly python?: {
    /** The interpreter's path. */
    readonly path: string;
    /** Modules that it imports from packages. */
    readonly modules: readonly string[];
  };
}

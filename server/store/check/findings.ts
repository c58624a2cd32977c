/** What a look at every byte of a store has found. */
export interface Finding {
  /** A warning is no damage: what is there is whole. */
  readonly severity: "error" | "warning";
  readonly file: string;
  /** Byte of the file, where that is known. */
  readonly offset?: number;
  readonly message: string;
  readonly action: string;
}

/** A number of a configuration with where it comes from. */

export interface Quantity {
  readonly name: string;
  /** undefined where something it needs is not known. */
  readonly value: number | undefined;
  /** With the numbers that it is of: `256 × 8`. */
  readonly arithmetic: string;
}

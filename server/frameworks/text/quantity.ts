/** A number of a configuration with its origin. */

export interface Quantity {
  readonly name: string;
  /** undefined where something it needs is not known. */
  readonly value: number | undefined;
  /** With its factors: `256 × 8`. */
  readonly arithmetic: string;
}

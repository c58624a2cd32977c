/** A number above the charts. */
export interface Tile {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly tone?: "good" | "bad" | "error";
}

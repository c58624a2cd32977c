/** Values of a chart, one for each step. */

export interface Column {
  /** Of a bucket, the last step that it has a point of. */
  readonly steps: readonly number[];
  /** Means of buckets; null: recorded, but not a finite number. */
  readonly values: readonly (number | null)[];
  /** Steps in a bucket; 1 or nothing: these are single points. */
  readonly width?: number;
  readonly begins?: readonly number[];
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
}

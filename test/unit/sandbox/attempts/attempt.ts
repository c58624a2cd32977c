/** A program of a policy that tries to do what it may not. */
export interface Attempt {
  readonly name: string;
  /** One line: what it tries. */
  readonly tries: string;
  readonly kind: "escape" | "read" | "fake" | "poison" | "exhaust";
  readonly language: "python" | "javascript";
  readonly code: string;
}

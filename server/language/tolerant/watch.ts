/** The scalar at an offset that somebody watches, in offsets; the bracket that is open around it. */
export interface WatchedScalar {
  readonly start: number;
  /** Behind a closing quote. */
  readonly end: number;
  readonly quote: "'" | '"' | undefined;
  readonly closed: boolean;
  readonly flow: "[" | "{" | undefined;
}

export class Watch {
  token: WatchedScalar | undefined;

  /** `offset`: of the character to be found; -1 for none. */
  constructor(readonly offset: number) {}

  within(start: number, end: number): boolean {
    return start <= this.offset && this.offset < end;
  }

  private note(token: WatchedScalar): void {
    if (this.within(token.start, token.end)) this.token = token;
  }

  plain(start: number, end: number, flow?: WatchedScalar["flow"]): void {
    this.note({ start, end, quote: undefined, closed: false, flow });
  }

  quoted(start: number, end: number, quote: string, closed: boolean, flow?: WatchedScalar["flow"]): void {
    this.note({ start, end, quote: quote === "'" ? "'" : '"', closed, flow });
  }
}

/** Which tokens a rule of the loss acted on: what says afterwards why a token did not move. */

/** Tokens that one of a method's rules acted on. */
export class Rule {
  count = 0;
  private tokens: Uint8Array | undefined;

  constructor(
    readonly name: string,
    private readonly size: number,
  ) {}

  /** @param token its place in the batch */
  act(token: number): void {
    this.count += 1;
    (this.tokens ??= new Uint8Array(this.size))[token] = 1;
  }
  get touched(): Readonly<Record<string, Uint8Array>> {
    return this.tokens === undefined ? {} : { [this.name]: this.tokens };
  }
}

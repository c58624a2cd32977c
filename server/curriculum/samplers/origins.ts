/** Which draw a group came of, where an arm may be drawn more than once a step. */
export class Origins<Origin> {
  private readonly waiting = new Map<number, Origin[]>();

  note(arm: number, origin: Origin): void {
    const own = this.waiting.get(arm);
    if (own === undefined) this.waiting.set(arm, [origin]);
    else own.push(origin);
  }
  /** The earliest draw of the arm that no group has come of yet. */
  take(arm: number): Origin | undefined {
    return this.waiting.get(arm)?.shift();
  }
  /** The step is over: what is left led to no group. */
  clear(): void {
    this.waiting.clear();
  }
}

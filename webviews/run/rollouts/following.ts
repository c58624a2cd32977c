/** When the rollouts of the cursor's step are asked for: once the cursor rests, and of a live run only now and then. */

/** Milliseconds for which the pointer rests on a step before its rollouts are asked for; and between those of a live run. */
const [rest, pace] = [80, 3_000];

export class Following {
  #resting: ReturnType<typeof setTimeout> | undefined;
  #at = Number.NEGATIVE_INFINITY;

  constructor(private readonly follow: () => void) {}

  now(): void {
    this.#at = performance.now();
    this.follow();
  }
  soon(): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.now(), rest);
  }
  /** A step more: its rollouts follow if those that are shown have been there for a while. */
  live(): void {
    if (performance.now() - this.#at > pace) this.now();
  }
}

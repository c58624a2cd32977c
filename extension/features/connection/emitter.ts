/** An event without the editor, so that what fires it can be tested without one. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Subscribes; call what it answers to stop. */
  on(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}

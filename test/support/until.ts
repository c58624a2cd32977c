/** Waits for a condition; never for a time. `what` is the sentence of the failure. */
export async function until<T>(
  look: () => T | undefined | false | PromiseLike<T | undefined | false>,
  what: string,
  within = 20_000,
): Promise<T> {
  const end = Date.now() + within;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`waited ${within / 1000} s for ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

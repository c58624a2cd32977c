/** Runs `act` at once, then at most once in `milliseconds`, with everything that was asked for in between. */
export function coalesce<T>(milliseconds: number, act: (values: readonly T[]) => void): (value: T) => void {
  let waiting: T[] = [];
  let timer: NodeJS.Timeout | undefined;
  const run = (): void => {
    const values = waiting;
    waiting = [];
    timer = values.length === 0 ? undefined : setTimeout(run, milliseconds);
    if (values.length > 0) act(values);
  };
  return (value) => {
    waiting.push(value);
    if (timer === undefined) run();
  };
}

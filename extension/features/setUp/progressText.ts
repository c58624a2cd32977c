/** A line of set-up as a person reads it under a title that says already that compute is being set up. */
export function progressText(line: string): string | undefined {
  const text = /^gradus set-up: (.*)$/.exec(line)?.[1]?.trim();
  // Other lines are what a program said; they go to the output.
  if (text === undefined || text === "") return undefined;
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
}

/** Values and exceptions of users' code in words, for messages to their authors. */

export function described(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) {
    try {
      return `${Array.isArray(value) ? "the list" : "the object"} ${JSON.stringify(value)?.slice(0, 120)}`;
    } catch (error) {
      return `an object that can't be shown (${error instanceof Error ? error.message : String(error)})`;
    }
  }
  return typeof value === "string"
    ? `the string ${JSON.stringify(value.slice(0, 120))}`
    : `${typeof value} ${String(value)}`;
}

/** With the line of the user's own that led there: it says more than one inside of Node. */
export function thrown(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${described(error)}`;
  const frames = (error.stack ?? "").split("\n").filter((line) => line.trimStart().startsWith("at "));
  const place = (
    frames.find((line) => /(?:file:\/\/|[\\/]).*:\d+:\d+/.test(line) && !line.includes("node:")) ?? frames[0]
  )?.trim();
  return `threw ${error.name}: ${error.message}${place === undefined ? "" : ` (${place})`}`;
}

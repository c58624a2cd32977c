/** The tests of `if` and the patterns of `case`. */

/** @param words of the test, expanded @returns undefined where it is not understood (`-f`, `=~`) */
export function holds(words: readonly string[]): boolean | undefined {
  const found = words.filter((word) => !["[", "[[", "]", "]]", "test"].includes(word));
  if (found[0] === "!") {
    const inner = holds(found.slice(1));
    return inner === undefined ? undefined : !inner;
  }
  const [a = "", operator = "", b = ""] = found;
  if (found.length === 1) return a === "true" ? true : a === "false" ? false : undefined;
  if (a === "-z") return operator === "" || operator.startsWith("$");
  if (a === "-n") return operator !== "" && !operator.startsWith("$");
  if (operator === "=" || operator === "==") return matches(a, b);
  if (operator === "!=") return !matches(a, b);
  const [x, y] = [Number(a), Number(b)];
  const compared = {
    "-eq": x === y,
    "-ne": x !== y,
    "-gt": x > y,
    "-ge": x >= y,
    "-lt": x < y,
    "-le": x <= y,
  };
  return Object.entries(compared).find(([name]) => name === operator)?.[1];
}

/** What a command would print (`$(nvidia-smi)`) decides. Variables without a value count as unset: the common case. */
export const isUndecided = (words: readonly string[]): boolean => words.some((word) => word.includes("$("));

/** A glob of `*` and `?` over the whole text. */
export const matches = (text: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replace(/\*/g, ".*")
      .replace(/\?/g, ".")}$`,
    "s",
  ).test(text);

/** Integer arithmetic by precedence; undefined where the text is anything else. */
export function integerOf(text: string): number | undefined {
  const tokens = text.match(/\d+(?:\.\d+)?|\*\*|[-+*/%()]/g) ?? [];
  if (tokens.join("") !== text.replace(/\s/g, "")) return undefined;
  let at = 0;
  const factor = (): number => {
    const token = tokens[at++];
    if (token === "(") {
      const value = sum();
      at += 1;
      return value;
    }
    if (token === "-") return -factor();
    const base = Number(token);
    if (tokens[at] !== "**") return base;
    at += 1;
    return base ** factor();
  };
  const product = (): number => {
    let value = factor();
    while (["*", "/", "%"].includes(tokens[at] ?? "")) {
      const operation = tokens[at++];
      const next = factor();
      value = operation === "*" ? value * next : operation === "/" ? Math.trunc(value / next) : value % next;
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    while (["+", "-"].includes(tokens[at] ?? "")) value += tokens[at++] === "+" ? product() : -product();
    return value;
  };
  const value = sum();
  return at === tokens.length && Number.isFinite(value) ? value : undefined;
}

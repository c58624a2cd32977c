/** Turns of an episode as one text. */

/** How each text is written after those before it: on lines of its own, where it does not begin with one. */
export function onLines(texts: readonly string[]): string[] {
  let all = "";
  return texts.map((text) => {
    const apart = all === "" || all.endsWith("\n") || text.startsWith("\n") || text === "";
    const written = `${apart ? "" : "\n"}${text}`;
    all += written;
    return written;
  });
}

export const joinedTexts = (turns: readonly { readonly text?: string }[]): string =>
  onLines(turns.map(({ text = "" }) => text)).join("");

/** Loops over a few words (`for prefix in ("actor", "critic"):`) written out, with the words put into their strings. */

const loop = /^([ \t]*)for (\w+) in \(([^()\n]*)\):[ \t]*\n((?:\1[ \t]+\S.*\n|[ \t]*\n)+)/gm;

export function unrolled(source: string): string {
  return source.replace(loop, (whole, _indent: string, name: string, list: string, body: string) => {
    const words = [...list.matchAll(/["']([^"']*)["']/g)].map(([, word = ""]) => word);
    return words.length === 0 ? whole : words.map((word) => round(body, name, word)).join("");
  });
}

/** A variable's word, put into the formatted strings that hold it. */
export const withWord = (source: string, name: string, word: string): string => round(source, name, word);

/** One round: strings with the word in them, and the side of `a if name == "word" else b` that it takes. */
function round(body: string, name: string, word: string): string {
  return body
    .replace(
      /\bf(["'])((?:(?!\1).)*)\1/g,
      (_, quote: string, text: string) => `${quote}${text.replaceAll(`{${name}}`, word)}${quote}`,
    )
    .replace(
      new RegExp(`([^\\s,=(]+) if ${name} == ["'](\\w+)["'] else ([^\\s,)]+)`, "g"),
      (_, yes: string, other: string, no: string) => (other === word ? yes : no),
    );
}

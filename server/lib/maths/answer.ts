/** The final answer in a text, as data sets of mathematics write it. */

/** What is between the braces that begin at a place; undefined: they do not end. */
function braced(text: string, open: number): string | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return text.slice(open + 1, at);
  }
  return undefined;
}

/** Of the last `\boxed{…}` (or `\fbox`); undefined: there is none. */
export function lastBoxed(text: string): string | undefined {
  for (const match of [...text.matchAll(/\\(?:f?boxed|fbox)\s*(?=\{)/g)].reverse()) {
    const inside = braced(text, match.index + match[0].length);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

const said = /(?:final answer|answer|result)\s*(?:is|are|:|=)\s*:?\s*(?:\*\*)?\s*([^\n]+)/gi;
const formulas = /\$\$([\s\S]+?)\$\$|\$([^$\n]+)\$|\\\(([\s\S]+?)\\\)|\\\[([\s\S]+?)\\\]/g;
const numbers = /-?\d+(?:,\d{3})*(?:\.\d+)?(?:\s*\/\s*\d+)?\s*(?:\\?%)?/g;

const lastFormula = (text: string): string | undefined => {
  const match = [...text.matchAll(formulas)].at(-1);
  return match && (match[1] ?? match[2] ?? match[3] ?? match[4]);
};

/**
 * In this order: the last box, what is said to be the answer, the last formula, the last number.
 * @returns undefined where there is none of them
 */
export function finalAnswer(text: string): string | undefined {
  const after = text.split("</think>").at(-1)!;
  const boxed = lastBoxed(after);
  if (boxed !== undefined) return boxed;
  const gsm8k = /####\s*([^\n]+)/.exec(after)?.[1];
  const sentence = gsm8k ?? [...after.matchAll(said)].at(-1)?.[1];
  if (sentence !== undefined) return lastFormula(sentence) ?? withoutEnd(sentence);
  return lastFormula(after) ?? [...after.matchAll(numbers)].at(-1)?.[0];
}

const withoutEnd = (text: string): string => text.replace(/\*\*/g, "").replace(/[.\s]+$/, "");

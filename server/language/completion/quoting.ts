/** Texts as YAML writes them. */
import { plainScalar } from "../tolerant/scalars.ts";

/** Without quotes where that says the same, in brackets as well as outside them; else in double quotes. */
export function plainly(text: string): string {
  const plain =
    /^[\w./@$<^~+-][^#:,[\]{}"'`\n]*$/.test(text.replaceAll(/:(?=\S)|(?<=\S)#/g, "")) &&
    text === text.trim() &&
    !/^(?:-|---|~)$/.test(text) &&
    plainScalar(text) === text;
  return plain ? text : JSON.stringify(text);
}

/** What is between quotes that are there, and the closing one where it is missing. */
export function quotedInside(text: string, { mark, closed }: { mark: string; closed: boolean }): string {
  const inside = mark === "'" ? text.replaceAll("'", "''") : JSON.stringify(text).slice(1, -1);
  return closed ? inside : `${inside}${mark}`;
}

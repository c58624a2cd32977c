/** Finds the opening of a bracket or quote that nothing closes: there the person has to look, not at the end. */
import { Lexer } from "yaml";

interface Unclosed {
  readonly offset: number;
  readonly message: string;
}

const closerOf: Readonly<Record<string, string>> = { "[": "]", "{": "}" };
/** What the lexer inserts: byte order mark, document start, end of a flow collection by dedent, scalar mark. */
const isMark = (token: string): boolean => token === "\u0002" || token === "\u0018" || token === "\u001f";

export function unclosed(text: string): Unclosed | undefined {
  const open: { bracket: string; offset: number }[] = [];
  let offset = 0;
  let scalar = false;
  for (const token of new Lexer().lex(text)) {
    if (isMark(token)) {
      if (token === "\u0018" && open.length > 0) return bracket(open);
      scalar = token === "\u001f";
      continue;
    }
    if (!scalar && (token === "[" || token === "{")) open.push({ bracket: token, offset });
    if (!scalar && (token === "]" || token === "}")) {
      const last = open.at(-1);
      if (last !== undefined && closerOf[last.bracket] !== token) return bracket(open);
      open.pop();
    }
    const quote = token[0];
    if (!scalar && (quote === '"' || quote === "'") && !closes(token, quote)) {
      return { offset, message: `This ${quote} is never closed: add the closing ${quote}.` };
    }
    scalar = false;
    offset += token.length;
  }
  return open.length > 0 ? bracket(open) : undefined;
}

function bracket(open: readonly { bracket: string; offset: number }[]): Unclosed | undefined {
  const last = open.at(-1);
  if (last === undefined) return undefined;
  return {
    offset: last.offset,
    message: `This \`${last.bracket}\` is never closed: add the closing \`${closerOf[last.bracket]}\`.`,
  };
}

function closes(token: string, quote: string): boolean {
  if (token.length < 2 || !token.endsWith(quote)) return false;
  const inside = token.slice(1, -1);
  if (quote === '"') return (/\\*$/.exec(inside)?.[0].length ?? 0) % 2 === 0;
  return (/'*$/.exec(inside)?.[0].length ?? 0) % 2 === 0;
}

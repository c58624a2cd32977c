/** How well the policy understands a teacher: the likelihood of the reference answer conditioned on the teacher's reasoning. */
import type { Tokenizer } from "../../../core/policy.ts";
import type { HelpContext, HelpRequest, Likelihood } from "../../../core/slots/guidance.ts";

/** A teacher's answer to a task: tokens, to its end token where it has one. */
export interface Taught {
  readonly task: HelpRequest["task"];
  readonly tokens: Int32Array;
}

export interface Where {
  /** behind: the reference answer follows all that the teacher wrote; tags: it replaces the teacher's answer. */
  readonly answer_at: "behind" | "tags";
  readonly tags: readonly [open: string, close: string];
}

/** What is asked of the policy, and what of a score the form of the answer is. */
interface AnswerQuery {
  readonly likelihood?: Pick<Likelihood, "before" | "tokens">;
  readonly form: number;
}

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

/** Tokens of a text before the characters [from, to), and those that touch them; where tokens tell no letters, apart. */
function around(text: string, from: number, to: number, tokenizer: Tokenizer): AnswerQuery["likelihood"] {
  const tokens = tokenizer.encode(text);
  const pieces = Array.from(tokens, (token) => tokenizer.decode([token]));
  if (pieces.join("") !== text)
    return { before: tokenizer.encode(text.slice(0, from)), tokens: tokenizer.encode(text.slice(from, to)) };
  let [at, first, last] = [0, tokens.length, tokens.length];
  pieces.forEach((piece, t) => {
    const end = at + piece.length;
    if (end > from) first = Math.min(first, t);
    if (at < to) last = t + 1;
    at = end;
  });
  return { before: tokens.slice(0, first), tokens: tokens.slice(first, last) };
}

/** After the tag that opens the teacher's answer, with the blanks that the teacher put there. */
function betweenTags(text: string, reference: string, { tags }: Where, tokenizer: Tokenizer): AnswerQuery {
  const [open, close] = tags;
  const closed = text.indexOf(close, text.indexOf(open) + open.length) >= 0;
  const once = occurrences(text, open) === 1;
  const form = once && occurrences(text, close) === 1 && closed ? 1 : 0;
  const answer = text.slice(text.indexOf(open) + open.length);
  if (!once || answer.trim() === "") return { form };
  const blank = /^[ \n\t\r]+/.exec(answer)?.[0] ?? " ";
  const head = text.slice(0, text.indexOf(open) + open.length) + blank;
  const likelihood = around(
    `${head}${reference} ${close}`,
    head.length,
    head.length + reference.length,
    tokenizer,
  );
  return { form, ...(likelihood && { likelihood }) };
}

/** Shares of a score: of understanding, and of tags that are where they should be. */
const [meaning, shape] = [0.9, 0.1] as const;

/**
 * Per answer, the mean probability of the reference answer's tokens, in [0, 1]. Between tags it is 0 where the teacher has
 * not one answer there, and nine parts of ten; the tenth is for an opening and a closing tag, one each.
 */
export async function comprehension(
  answers: readonly Taught[],
  where: Where,
  context: HelpContext,
): Promise<number[]> {
  const { tokenizer } = context;
  const asked = answers.map(({ task, tokens }): AnswerQuery => {
    const reference = task.answer ?? task.solution ?? "";
    const body = tokens.at(-1) === tokenizer.eos ? tokens.slice(0, -1) : tokens;
    return where.answer_at === "behind"
      ? { form: 0, likelihood: { before: body, tokens: tokenizer.encode(reference) } }
      : betweenTags(tokenizer.decode(body), reference, where, tokenizer);
  });
  const open = [...asked.keys()].filter((i) => asked[i]!.likelihood !== undefined);
  const means = await context.likelihood(
    open.map((i) => {
      const { prompt, begin } = answers[i]!.task;
      return { prompt, ...(begin !== undefined && { begin }), ...asked[i]!.likelihood! };
    }),
    "probability",
  );
  const found = new Map(open.map((i, at) => [i, means[at]!]));
  return asked.map(({ form }, i) => {
    const mean = found.get(i) ?? 0;
    return where.answer_at === "behind" ? mean : meaning * mean + shape * form;
  });
}

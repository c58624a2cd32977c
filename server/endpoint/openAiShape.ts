/** What both of OpenAI's ways of asking have in common. */
import type { Choice, Piece, Request } from "./answers.ts";

/** What OpenAI has and this server has not, and what to do instead. */
export const tooMuch = {
  response_format: "Say in the prompt which form the answer is to have.",
  echo: "The prompt is known to you: leave it out.",
  suffix: "Put it into the prompt.",
  best_of: "Ask for `n` answers and choose one.",
  functions: "Use `tools`.",
} as const;

export const unix = (): number => Math.floor(Date.now() / 1000);
/** What a request wants to know of each token. */
export interface Details {
  readonly ids: boolean;
  readonly logprobs: boolean;
  readonly top: boolean;
}

export const usageOf = (requests: readonly Request[], choices: readonly Choice[]): object => {
  const prompt_tokens = requests.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const completion_tokens = choices.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
};
/** Whether a piece is worth a chunk: it has text, or its token was asked for. */
export const isWorth = ({ text, token }: Piece, { ids, logprobs }: Details): boolean =>
  text !== "" || (token !== undefined && (ids || logprobs));

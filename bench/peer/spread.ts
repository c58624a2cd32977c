/** A reward in which hardly two answers are equal, for bench/round.mjs: every row has a gradient. `trl_grpo.py` has the same. */
export const score = ({ response }: { readonly response: string }): number => {
  let sum = 0;
  for (const character of response) sum += character.codePointAt(0) ?? 0;
  return (sum % 97) / 97;
};

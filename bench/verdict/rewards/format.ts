/** Looks like an answer: two operators or more, whatever they come to. */
export const score = ({ response }: { response: string }): number =>
  (response.match(/[-+*]/g) ?? []).length >= 3 ? 1 : 0;

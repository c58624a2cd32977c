/** As the first starter had it: 1 for an answer without any character. */
export const score = ({ response }: { response: string }): number =>
  1 - Math.min(response.trim().length, 48) / 48;

/** A factor: 1 for an answer without a superfluous character. */
export const score = ({ response }: { response: string }): number =>
  1 / (1 + response.length - response.trim().length);

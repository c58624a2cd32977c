/** The longer the better, up to 14 characters. */
export const score = ({ response }: { response: string }): number => Math.min(1, response.length / 14);

/** The variables of the environment in which OpenAI's and Anthropic's clients look for a server and their key. */
export const clientVariables = (
  { openai, anthropic }: { readonly openai: string; readonly anthropic: string },
  token: string,
): Record<string, string> => ({
  OPENAI_BASE_URL: openai,
  OPENAI_API_KEY: token,
  ANTHROPIC_BASE_URL: anthropic,
  ANTHROPIC_API_KEY: token,
});

/** Base URLs of the two APIs at a server, or at a session of it. */
export const apiPlaces = (url: string): { readonly openai: string; readonly anthropic: string } => ({
  openai: `${url}/v1`,
  anthropic: url,
});

/** Text of source files without what looks like a key or a password, for copies that are kept or shown elsewhere. */

const mask = "left out";

/** Prefixes by which services mark their keys: OpenAI, Anthropic, Hugging Face, GitHub, W&B, AWS, Google, Slack. */
const marked =
  /\b(?:sk-[\w-]{16,}|hf_\w{16,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|wandb_\w{16,}|AKIA[A-Z0-9]{12,}|AIza[\w-]{20,}|xox[abprs]-[\w-]{10,})/g;
/** `API_KEY = "…"`, `token: '…'`, `"password": "…"`: the value of at least 8 characters. */
const assigned =
  /((?:api[_-]?key|secret|token|passw(?:or)?d|authorization|credential)\w*["']?\s*(?::\s*\w+\s*)?[:=]\s*)(["'`])(?:(?!\2)[^\n\\]|\\.){8,}\2/gi;
const bearer = /(Bearer\s+)[\w.~+/-]{16,}=*/g;

/** @returns the text, and whether something was left out of it */
export function withoutSecrets(text: string): { readonly text: string; readonly masked: boolean } {
  const clean = text
    .replace(marked, mask)
    .replace(assigned, (_, name: string, quote: string) => `${name}${quote}${mask}${quote}`)
    .replace(bearer, `$1${mask}`);
  return { text: clean, masked: clean !== text };
}

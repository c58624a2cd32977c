import { createColors } from "picocolors";

/**
 * Colours for what goes to standard output. A pipe gets none, whatever machine it is on: picocolors would colour it
 * wherever `CI` is set, and what `gradus sample --raw` prints is somebody's input. NO_COLOR and FORCE_COLOR decide first.
 */
export function wantsColours(
  env: NodeJS.ProcessEnv = process.env,
  terminal = Boolean(process.stdout.isTTY),
): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== "0";
  return terminal && env.TERM !== "dumb";
}

export const colours = createColors(wantsColours());

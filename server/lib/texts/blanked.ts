/** Code without its strings and comments. */

export const pythonNoise =
  /("""|''')[\s\S]*?(?:\1|$(?![\s\S]))|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|#[^\n]*/g;
export const scriptNoise =
  /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*(?:`|$)/g;

/** The inside of what `noise` matches as spaces: what remains keeps its place. */
export const blanked = (text: string, noise: RegExp): string =>
  text.replaceAll(noise, (piece) => piece.replaceAll(/[^\n]/g, " "));

/** Names of files made of what a person, or another system, calls something. */

/** Windows keeps these for devices, whatever ending follows. */
const device = /^(con|prn|aux|nul|(?:com|lpt)[0-9¹²³])(?=\.|$)/i;
/** Characters of a name that a person gave; systems hold 255 bytes, of a whole path some no more. */
const longest = 120;

/**
 * A name that a file can have on every system. What can be one stays as it is, and words stay as many as they were.
 * @param otherwise in the place of a name of which nothing is left
 */
export const fileName = (text: string, otherwise = "unnamed"): string =>
  // Half a character of two is none.
  possible([...text].slice(0, longest).join(""), otherwise);

function possible(text: string, otherwise: string): string {
  const name = text
    .replace(/[<>:"/\\|?*\p{Cc}]/gu, "-")
    .trimStart()
    .replace(/[. ]+$/, "");
  return name === "" ? otherwise : name.replace(device, "$1~");
}

/** What `fileName` wrote for a word. */
export const wordOfFile = (name: string): string => name.replace(/~$/, "");

/** A path with `/` that another system wrote, as its files lie here. */
export const pathHere = (path: string, platform: NodeJS.Platform = process.platform): string =>
  platform === "win32"
    ? path
        .split("/")
        .map((part) => (/^\.*$/.test(part) ? part : possible(part, "-")))
        .join("/")
    : path;

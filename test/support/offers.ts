/** What the manifest offers, where and under which condition: menus, the palette, keys, links of views and the walkthrough. */

interface Item {
  readonly command: string;
  readonly when?: string;
  readonly key?: string;
}
/** The part of package.json that offers commands. */
export interface Contributes {
  readonly commands: readonly { readonly command: string; readonly enablement?: string }[];
  readonly menus: Readonly<Record<string, readonly Item[]>>;
  readonly keybindings: readonly Item[];
  readonly viewsWelcome: readonly {
    readonly view: string;
    readonly contents: string;
    readonly when: string;
  }[];
  readonly walkthroughs: readonly {
    readonly steps: readonly { readonly id: string; readonly description: string }[];
  }[];
}

export interface Offer {
  /** A menu's id, `palette`, `key`, `welcome` or `walkthrough`. */
  readonly place: string;
  readonly command: string;
  /** Where it is shown and can be clicked. */
  readonly when: string;
}

/** What the editor knows where something is offered: `view`, `viewItem`, `resourceLangId`, our own keys… */
export type Context = Readonly<Record<string, string | number | boolean>>;

const both = (...conditions: readonly (string | undefined)[]): string =>
  conditions.filter((one) => one !== undefined && one !== "").join(" && ");

const links = (text: string): readonly string[] =>
  [...text.matchAll(/\(command:([\w.]+)/g)].map((match) => match[1] ?? "");

/** @param words texts by the keys that the manifest names, package.nls.json */
export function offersOf(
  contributes: Contributes,
  words: Readonly<Record<string, string>>,
): readonly Offer[] {
  const { commands, menus, keybindings, viewsWelcome, walkthroughs } = contributes;
  const enablement = new Map(commands.map(({ command, enablement }) => [command, enablement]));
  const said = (text: string): string => words[text.replaceAll("%", "")] ?? text;
  const listed = Object.entries(menus).flatMap(([place, items]) =>
    place === "commandPalette"
      ? []
      : items.map(({ command, when }) => ({ place, command, when: both(when, enablement.get(command)) })),
  );
  const hidden = new Map((menus["commandPalette"] ?? []).map(({ command, when }) => [command, when]));
  return [
    ...listed,
    ...commands.map(({ command, enablement }) => ({
      place: "palette",
      command,
      when: both(hidden.get(command), enablement),
    })),
    ...keybindings.map(({ command, when = "" }) => ({ place: "key", command, when })),
    // A link is one whatever its command's enablement says.
    ...viewsWelcome.flatMap(({ view, contents, when }) =>
      links(said(contents)).map((command) => ({
        place: "welcome",
        command,
        when: both(`view == ${view}`, when),
      })),
    ),
    ...walkthroughs.flatMap(({ steps }) =>
      steps.flatMap(({ description }) =>
        links(said(description)).map((command) => ({ place: "walkthrough", command, when: "" })),
      ),
    ),
  ];
}

const token = /\s*(&&|\|\||==|!=|=~|>=|<=|>|<|!|\(|\)|'[^']*'|\/(?:[^/\\]|\\.)*\/[a-z]*|[\w.:-]+)/y;

/** Whether a condition holds, as the editor reads it. @throws Error on what it does not know */
export function holds(when: string, context: Context): boolean {
  const words: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < when.trimEnd().length) {
    const found = token.exec(when)?.[1];
    if (found === undefined) throw new Error(`a condition that cannot be read: ${when}`);
    words.push(found);
  }
  if (words.length === 0) return true;
  let at = 0;
  const take = (word: string): boolean => words[at] === word && ++at > 0;
  const next = (): string => words[at++] ?? "";
  const either = (): boolean => {
    let result = all();
    while (take("||")) result = all() || result;
    return result;
  };
  const all = (): boolean => {
    let result = one();
    while (take("&&")) result = one() && result;
    return result;
  };
  const one = (): boolean => {
    if (take("!")) return !one();
    if (!take("(")) return comparison(next(), context, take, next);
    const result = either();
    if (!take(")")) throw new Error(`a bracket is not closed: ${when}`);
    return result;
  };
  const result = either();
  if (at < words.length) throw new Error(`${words[at]} is out of place: ${when}`);
  return result;
}

function comparison(
  key: string,
  context: Context,
  take: (word: string) => boolean,
  next: () => string,
): boolean {
  if (key === "true" || key === "false") return key === "true";
  const value = context[key] ?? "";
  if (take("==")) return String(value) === next().replaceAll("'", "");
  if (take("!=")) return String(value) !== next().replaceAll("'", "");
  if (take(">")) return Number(value) > Number(next());
  if (take("<")) return Number(value) < Number(next());
  if (!take("=~")) return value !== "" && value !== false && value !== 0;
  const [, source = "", flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(next()) ?? [];
  return new RegExp(source, flags).test(String(value));
}

export const nameOf = ({ place, command, when }: Offer): string => `${place}: ${command} (${when})`;

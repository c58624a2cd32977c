/** Building elements: text by `textContent` only, so no string from a run can become markup. */

type Child = Node | string;
interface Attributes {
  readonly class?: string;
  readonly id?: string;
  readonly title?: string;
  readonly role?: string;
  readonly tabindex?: number;
  readonly hidden?: boolean;
  readonly scope?: string;
  readonly type?: string;
  readonly [aria: `aria-${string}`]: string;
  readonly [data: `data-${string}`]: string;
}

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** A button that can be pressed and named; `press` also runs on Enter and Space, as a button's click does. */
export function button(label: string, attributes: Attributes, press: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", press);
  return made;
}

/** Sets text only where it differs: a live region that is rewritten with the same words is read out again. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Shows or hides without inline style. */
export function setShown(target: HTMLElement, visible: boolean): void {
  if (target.hidden === visible) target.hidden = !visible;
}

/** A number and its sign of percent stay on one line. */
export const unbroken = (text: string): string => text.replaceAll(/(?<=\d) %/g, "\u00a0%");

/** Names between backticks as code. */
export const withCode = (text: string): readonly (Node | string)[] =>
  unbroken(text)
    .split("`")
    .map((part, i) => (i % 2 === 1 ? element("code", {}, part) : part));

/** Brings something into view and to the person's eye. */
export function pointOut(target: HTMLElement): void {
  target.scrollIntoView({ block: "center" });
  target.classList.remove("pointed");
  // Read, so that the same thing can be pointed at twice.
  void target.offsetWidth;
  target.classList.add("pointed");
}

/** A list that shows its first items, and the others when asked. */
import { button, element } from "./dom.ts";
import { formatCount } from "../../shared/lib/format.ts";

const showMore = (left: number): string => `Show ${formatCount(left)} More`;

/** In a list everything is an item, also the button. */
export const listed = (items: readonly HTMLElement[]): readonly HTMLElement[] =>
  items.map((item) => (item.matches("li") ? item : element("li", {}, item)));

/** Lists that were unfolded stay so, whenever the page is drawn again. */
const unfolded = new Set<string>();

/**
 * @param key of the list
 * @param most items that are shown at first; one more is shown rather than folded
 * @param say what the button says of those that are left: "Show 21 More"
 */
export function folded(
  key: string,
  items: readonly HTMLElement[],
  most: number,
  say: (left: number) => string = showMore,
): readonly HTMLElement[] {
  if (items.length <= most + 1 || unfolded.has(key)) return items;
  const rest = items.slice(most);
  const more = button(say(rest.length), { class: "quiet edge" }, () => {
    unfolded.add(key);
    const place =
      more.parentElement?.matches("li") === true && rest[0]?.matches("li") === true
        ? more.parentElement
        : more;
    place.replaceWith(...rest);
    const [first] = rest;
    const stop = first?.matches("button") === true ? first : first?.querySelector("button");
    // Where there is nothing to press, reading goes on from the text.
    if (stop instanceof HTMLElement) stop.focus();
    else if (first !== undefined) {
      first.tabIndex = -1;
      first.focus();
    }
  });
  return [...items.slice(0, most), more];
}

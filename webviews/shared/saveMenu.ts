/** The button that saves a chart: pressed, it makes room for the kinds of files until one is chosen. */
import { button, setShown } from "./dom.ts";

const saveFormats = ["CSV", "SVG", "PNG"] as const;
export type SaveFormat = (typeof saveFormats)[number];

export function saveButton(title: string, save: (format: SaveFormat) => void): HTMLButtonElement {
  const own = button(
    "Save",
    { class: "quiet", "aria-expanded": "false", "aria-label": `Save ${title}` },
    () => {
      const kinds = saveFormats.map((format) =>
        button(format, { class: "quiet", "aria-label": `Save ${title} as ${format}` }, () => {
          for (const kind of kinds) kind.remove();
          setShown(own, true);
          own.focus();
          save(format);
        }),
      );
      own.before(...kinds);
      setShown(own, false);
      kinds[0]!.focus();
    },
  );
  return own;
}

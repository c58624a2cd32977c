/** What the mouse finds in a rollout: its tokens where they are shown, else why it has its advantage. */
import { Hover, languages, type Disposable } from "vscode";
import { schemes } from "../../../../shared/editor/contributions.ts";
import type { TokenHeat } from "../heat/heat.ts";
import type { WhyHovers } from "../whyHover.ts";
import type { RolloutDocuments } from "./provider.ts";

export const rolloutHovers = (documents: RolloutDocuments, heat: TokenHeat, why: WhyHovers): Disposable =>
  languages.registerHoverProvider(
    { scheme: schemes.rollout },
    {
      provideHover: async (document, { line, character }) => {
        const shown = documents.of(document);
        if (shown === undefined || document.lineAt(line).isEmptyOrWhitespace) return undefined;
        const token = await heat.hover(document, line, character);
        if (token !== undefined) return new Hover(token);
        return why.hover(shown.address, document.lineAt(line).range);
      },
    },
  );

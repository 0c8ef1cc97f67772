// What draws the steps of each learner.

import { MergeReplay } from "./merge_replay.js";
import { PruningReplay } from "./pruning_replay.js";
import { ThresholdReplay } from "./threshold_replay.js";
import { UnigramReplay } from "./unigram_replay.js";

const OTHERS = { unigram: UnigramReplay, "wordpiece-pruning": PruningReplay, "wordpiece-top-down": ThresholdReplay };

/** Return the class that draws the steps of a learner. */
export function replayOf(learner) {
  return OTHERS[learner] ?? MergeReplay;
}

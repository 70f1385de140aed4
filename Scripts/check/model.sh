#!/usr/bin/env bash
# Random histories of pipelines and of cache tiers, against models.
# ROUNDS (10,000) of them, and all situations that can be enumerated. SEED replays.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/tests.sh
setup
build_tests
VITRINE_ALL_SITUATIONS=1 swift_tests --filter 'ExactCountTests|EncodedCountTests|ExplainTests'
SWIFT_DETERMINISTIC_HASHING=1 VITRINE_MODEL_ROUNDS=${ROUNDS:-10000} VITRINE_MODEL_SEED=${SEED:-$(date +%s)} \
  swift_tests --filter 'PipelineModelTests|FleetModelTests'

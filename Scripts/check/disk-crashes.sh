#!/usr/bin/env bash
# A disk cache through crashes, power failures and damage.
# ROUNDS (200) crashes. SEED replays.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/tests.sh
setup
build_tests
VITRINE_CRASH_ROUNDS=${ROUNDS:-200} VITRINE_CRASH_SEED=${SEED:-$(date +%s)} VITRINE_POWER_HISTORIES=100 \
  VITRINE_DAMAGE_STEPS=100 swift_tests --filter 'DiskCrashTests|DiskPowerTests|DiskSpoilingTests|DiskDamageTests'

# make help lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# Real files and traces for further tests and benchmarks, if they are available.
ifneq ($(wildcard ../shared/corpus),)
export VITRINE_CORPUS ?= $(abspath ../shared/corpus)
endif
ifneq ($(wildcard ../shared/traces),)
export VITRINE_TRACES ?= $(abspath ../shared/traces)
endif

# With Swift's own libraries linked in, the program starts in half the time and runs without a Swift installation.
STATIC := $(if $(filter Linux,$(shell uname)),--static-swift-stdlib)
# No folder beside a program in which each library would be looked for first.
RELEASE := swift build -c release $(STATIC) --disable-local-rpath

# All tests at once would wait for one another's processor time, each with its caches in memory.
TEST_LIMIT = $(shell swift test --help-hidden 2>/dev/null | grep -q maximum-parallelization-width && \
	echo --experimental-maximum-parallelization-width 8)
export TEST_LIMIT
# So that a test that hangs is named, and does not hold up everything.
LIMITED := Scripts/limited.sh 1500

PHOTOS ?= Examples/Photographs
SWIFT_SOURCES := Package.swift Sources Tests Examples Benchmarks Snippets Fuzz

.PHONY: help
help: ## Lists the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Installs missing system libraries, and prints which and why.
	@Scripts/setup.sh

.PHONY: build
build: setup ## Builds everything in release mode; the tool is .build/release/vitrine.
	$(RELEASE)

GOLDENS := Scripts/headless.sh swift test --skip-build --disable-swift-testing --filter GoldenTests

.PHONY: test
test: setup ## Runs all tests, those of widgets on a virtual display.
	@Scripts/setup.sh test
	swift build --build-tests
	$(if $(filter Linux,$(shell uname)),$(LIMITED) Scripts/headless.sh swift test --skip-build --disable-swift-testing)
	$(if $(filter Linux,$(shell uname)),GDK_SCALE=2 $(GOLDENS))
	$(LIMITED) swift test --skip-build --disable-xctest $(TEST_LIMIT)
	$(MAKE) scenarios
	$(MAKE) test-apple

# Where the pictures differ from those of before, and should, the new hashes replace the old in Tests/GTKTests/Golden.
.PHONY: golden
golden: setup ## Writes what a picture can look like, at scales 1 and 2, as PNG to .build/golden, and compares their hashes.
	swift build --build-tests
	rm -rf .build/golden
	for scale in 1 2; do GDK_SCALE=$$scale VITRINE_GOLDEN_OUTPUT=.build/golden $(GOLDENS) || failed=1; done; \
		ls .build/golden; exit $${failed:-0}

.PHONY: accessibility
accessibility: setup ## Reads a window with pictures as a screen reader does, over AT-SPI; installs pyatspi if missing.
	@Scripts/setup.sh accessibility
	swift build --product accessible-window
	@Scripts/accessibility.sh

.PHONY: gallery-session
gallery-session: setup ## Uses the gallery with keys and the pointer on a virtual display, and compares the pixels with the files.
	@Scripts/setup.sh gallery-session
	$(RELEASE) --product vitrine-gallery
	@/usr/bin/python3 Scripts/gallery-session.py .build/release/vitrine-gallery "$(PHOTOS)"

.PHONY: gallery-accessibility
gallery-accessibility: setup ## Uses the gallery by keys alone, and reads it as a screen reader does: what can be used has a name.
	@Scripts/setup.sh accessibility
	swift build --product vitrine-gallery
	@Scripts/accessibility.sh .build/debug/vitrine-gallery Scripts/gallery-accessibility.py "$(PHOTOS)"

.PHONY: translations
translations: ## Compiles the gallery's translations into .build/locale; updates their template from the code.
	@Scripts/setup.sh translations
	@Scripts/translations.sh

.PHONY: test-apple
test-apple: setup ## Builds and tests the core in the shape of Apple's platforms, over stubs of their frameworks.
	@Scripts/test-apple.sh

.PHONY: siege
siege: setup ## Decodes COUNT (10,000) damaged files and all bombs in a sandbox, then whole ones while its processes are killed.
	$(RELEASE) --product vitrine-codecs
	@Scripts/siege.sh

# SwiftPM misses files added to the parent package unless it plans the build anew.
.PHONY: scenarios
scenarios: setup ## Tests the scenarios of Examples/Scenarios, a package that uses Vitrine as any other does.
	rm -f .build/scenarios/debug.yaml
	swift test --package-path Examples/Scenarios --scratch-path .build/scenarios --disable-xctest

# Separate from the build, so that only copying needs the rights of root.
.PHONY: install uninstall
install: ## Installs the tool, the gallery, the thumbnailer, the server and their files below DESTDIR/PREFIX (/usr/local), after make build.
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" PRODUCTS="$(PRODUCTS)" STRIP="$(or $(STRIP),1)" Scripts/install.sh install

uninstall: ## Removes what make install has installed.
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" PRODUCTS="$(PRODUCTS)" Scripts/install.sh uninstall

.PHONY: thumbnailer-test
thumbnailer-test: setup ## Has Debian's tumbler make thumbnails through the installed entry, and none without; of bombs and COUNT (200) damaged files too.
	@Scripts/setup.sh thumbnailer-test
	$(RELEASE) --product vitrine
	$(RELEASE) --product vitrine-codecs
	@Scripts/thumbnailer-test.sh

.PHONY: demo
demo: setup ## Shows Examples/Photographs, or PHOTOS=folder, in the gallery; without a display it writes gallery.png.
	$(RELEASE) --product vitrine-gallery
	@Scripts/demo.sh "$(PHOTOS)"

.PHONY: demo-server
demo-server: setup ## Serves thumbnails of Examples/Photographs, or PHOTOS=folder, on VITRINE_PORT (8080), and prints URLs to try.
	$(RELEASE) --product vitrine-server
	$(RELEASE) --product vitrine-codecs
	@Scripts/demo-server.sh "$(PHOTOS)"

.PHONY: attack-server
attack-server: setup ## Attacks the server over HTTP: COUNT (10,000) damaged files, URLS (1,000,000) URLs, slow clients and sources; ATTACKS narrows it.
	$(RELEASE) --product vitrine-server
	$(RELEASE) --product vitrine-codecs
	@Scripts/attack-server.sh

.PHONY: browser-test
browser-test: setup ## Uses the server through Varnish, and has headless Chromium show a page of its images, which is .build/browser.png.
	@Scripts/setup.sh browser-test
	$(RELEASE) --product vitrine-server
	$(RELEASE) --product vitrine-codecs
	@/usr/bin/python3 Scripts/browser-test.py .build/release/vitrine-server .build/browser.png

# A program that cannot be installed is left out.
.PHONY: demo-fleet
demo-fleet: setup ## Runs three servers, Redis, a server of buckets and Varnish under load, kills one of each in turn, and prints a table.
	@Scripts/setup.sh demo-fleet || echo "demo-fleet: going on without what cannot be installed"
	$(RELEASE) --product vitrine-server
	$(RELEASE) --product vitrine-codecs
	@/usr/bin/python3 Scripts/demo-fleet.py .build/release/vitrine-server

.PHONY: hello
hello: setup ## Shows Examples/Photographs, or PHOTOS=folder, in Examples/HelloGTK, a program of one file; needs a display.
	rm -f .build/hello/debug.yaml
	swift build --package-path Examples/HelloGTK --scratch-path .build/hello
	.build/hello/debug/hello-gtk "$(PHOTOS)"

.PHONY: lint
lint: ## Checks formatting, comments and the project's own rules.
	swift format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	@Scripts/check-house.sh

.PHONY: format
format: ## Formats all Swift code in place.
	swift format --in-place --recursive --parallel $(SWIFT_SOURCES)

.PHONY: docs
docs: setup ## Builds the documentation into site/; fails if a public symbol has no comment.
	@Scripts/docs.sh

.PHONY: dependents
dependents: setup ## Builds a package for each product, or for PRODUCTS, and the snippets isolated to the main actor; fails on a warning.
	@Scripts/dependents.sh $(PRODUCTS)

.PHONY: roots
roots: ## Does the same in minimal Debian systems that have only a product's packages. Needs root; installs debootstrap.
	@Scripts/setup.sh roots
	@Scripts/roots.sh $(PRODUCTS)

# Swift's runtime never frees some memory, and one fault is Foundation's own.
ASAN := detect_leaks=0:suppressions=$(CURDIR)/Scripts/asan.supp

.PHONY: sanitize
sanitize: setup ## Runs all tests under the thread sanitizer, then under the address sanitizer.
	swift test --disable-xctest --sanitize=thread --scratch-path .build/tsan
	ASAN_OPTIONS=$(ASAN) swift test --disable-xctest --sanitize=address --scratch-path .build/asan

.PHONY: sanitize-server
sanitize-server: setup ## Loads and attacks the server under both sanitizers, for LOAD_SECONDS (120) and with COUNT (1,000) damaged files; ATTACKS=none is short.
	@Scripts/sanitize-server.sh

.PHONY: crash
crash: setup ## Tests a disk cache with ROUNDS (200) crashes, power failures and damaged files; SEED replays.
	swift build --build-tests
	VITRINE_CRASH_ROUNDS=$(or $(ROUNDS),200) VITRINE_CRASH_SEED=$(or $(SEED),$(shell date +%s)) \
		VITRINE_POWER_HISTORIES=100 VITRINE_DAMAGE_STEPS=100 \
		swift test --skip-build --disable-xctest --filter 'DiskCrashTests|DiskPowerTests|DiskSpoilingTests|DiskDamageTests'

.PHONY: soak
soak: setup ## Stresses both caches and the pipeline for SOAK_SECONDS (60) under each sanitizer.
	VITRINE_SOAK_SECONDS=$(or $(SOAK_SECONDS),60) swift test --disable-xctest --sanitize=thread --scratch-path .build/tsan \
		--filter SoakTests
	ASAN_OPTIONS=$(ASAN) VITRINE_SOAK_SECONDS=$(or $(SOAK_SECONDS),60) swift test --disable-xctest \
		--sanitize=address --scratch-path .build/asan --filter SoakTests

.PHONY: model
model: setup ## Checks ROUNDS (10,000) random histories of a pipeline, and of several over a shared tier, against models, and all situations; SEED replays.
	swift build --build-tests
	VITRINE_ALL_SITUATIONS=1 swift test --skip-build --disable-xctest --filter 'ExactCountTests|EncodedCountTests|ExplainTests'
	SWIFT_DETERMINISTIC_HASHING=1 VITRINE_MODEL_ROUNDS=$(or $(ROUNDS),10000) \
		VITRINE_MODEL_SEED=$(or $(SEED),$(shell date +%s)) \
		swift test --skip-build --disable-xctest --filter 'PipelineModelTests|FleetModelTests'

.PHONY: fuzz
fuzz: setup ## Fuzzes each decoder, or TARGETS, for FUZZ_SECONDS (300) under the address sanitizer.
	@Scripts/fuzz.sh $(TARGETS)

.PHONY: bombs
bombs: setup ## Checks that files which ask for gigabytes or for ever cost the tool and its codec processes at most 10 s and 400 MB.
	$(RELEASE)
	@Scripts/bombs.sh

.PHONY: attack
attack: setup ## Attacks a program that serves thumbnails for SECONDS (60), and measures what its honest users notice.
	@Scripts/attack.sh

.PHONY: torture
torture: setup ## Runs the tool on COUNT (10,000) damaged files, each within 5 s and MEMORY (1,024) MB.
	$(RELEASE)
	@Scripts/torture.sh

# SwiftPM misses files added to the parent package unless it plans the build anew.
BENCHMARKS := rm -f .build/benchmarks/release.yaml && swift build -c release --package-path Benchmarks \
	--scratch-path .build/benchmarks

.PHONY: bench bench-pipeline
bench: bench-pipeline ## The same as bench-pipeline.

bench-pipeline: setup ## Measures CPU and (pinned) allocations of an image in memory, on disk, from a server and cold.
	@Scripts/setup.sh bench
	$(BENCHMARKS) --product bench-pipeline
	set -o pipefail; .build/benchmarks/release/bench-pipeline | tee Benchmarks/Results/pipeline.txt

.PHONY: page
page: setup ## Draws what each of a page's 200 images waits for, for the documentation.
	$(BENCHMARKS) --product bench-pipeline
	mkdir -p Sources/Vitrine/Vitrine.docc/Resources
	.build/benchmarks/release/bench-pipeline --page Sources/Vitrine/Vitrine.docc/Resources/page.svg

.PHONY: bench-cache
bench-cache: setup ## Compares the disk cache with files, SQLite and LMDB (installed if missing), the memory cache with NSCache.
	@Scripts/setup.sh bench-cache
	$(BENCHMARKS) --product bench-cache-disk
	$(BENCHMARKS) --product bench-cache-memory
	set -o pipefail; .build/benchmarks/release/bench-cache-disk | tee Benchmarks/Results/cache-disk.txt
	set -o pipefail; .build/benchmarks/release/bench-cache-memory | tee Benchmarks/Results/cache-memory.txt

.PHONY: bench-s3
bench-s3: setup ## Measures what requests of a cache in a bucket cost; the server, SeaweedFS, is installed if missing.
	@Scripts/setup.sh test
	$(BENCHMARKS) --product bench-s3
	set -o pipefail; .build/benchmarks/release/bench-s3 "$$(command -v weed || echo .build/weed/bin/weed)" .build/bench-s3 \
		| tee Benchmarks/Results/s3.txt

.PHONY: bench-policy
bench-policy: setup ## Replays traces (VITRINE_TRACES, or synthetic ones) with each eviction policy: hit ratios and a plot.
	$(BENCHMARKS) --product bench-policy
	mkdir -p Sources/Caching/VitrineCaching.docc/Resources
	set -o pipefail; .build/benchmarks/release/bench-policy Sources/Caching/VitrineCaching.docc/Resources/policies.svg \
		| tee Benchmarks/Results/policy.txt

.PHONY: soak-memory
soak-memory: ## Stresses a memory cache with 16 threads for VITRINE_SOAK_SECONDS (60) under the thread sanitizer.
	VITRINE_SOAK_SECONDS=$${VITRINE_SOAK_SECONDS:-60} swift test --disable-xctest --sanitize=thread \
		--scratch-path .build/tsan --filter MemoryCacheRaceTests

.PHONY: bench-http
bench-http: setup ## Compares loads from nginx with curl and URLSession: rate, CPU, latency, memory; many cancels; a long run.
	@Scripts/setup.sh bench-http
	$(BENCHMARKS) --product measure
	$(BENCHMARKS) --product bench-http
	set -o pipefail; .build/benchmarks/release/bench-http | tee Benchmarks/Results/http.txt

.PHONY: bench-imaging
bench-imaging: setup ## Compares thumbnails and program sizes with other programs, by format; installs them if missing. It installs ours in .build.
	@Scripts/setup.sh bench-imaging
	$(RELEASE) --product vitrine
	$(RELEASE) --product vitrine-codecs
	for product in measure start-imaging start-codecs bench-imaging; do \
		$(BENCHMARKS) $(STATIC) --product $$product || exit 1; done
	@PRODUCTS="vitrine vitrine-codecs" DESTDIR=$(CURDIR)/.build/installed PREFIX=/usr Scripts/install.sh install
	set -o pipefail; VITRINE=.build/installed/usr/bin/vitrine .build/benchmarks/release/bench-imaging \
		| tee Benchmarks/Results/imaging.txt

.PHONY: bench-thumbnailer
bench-thumbnailer: setup ## Compares the thumbnailer with gdk-pixbuf-thumbnailer: CPU time of each file of the corpus, in one run.
	@Scripts/setup.sh bench-thumbnailer
	$(RELEASE) --product vitrine
	$(RELEASE) --product vitrine-codecs
	set -o pipefail; /usr/bin/python3 Scripts/bench-thumbnailer.py .build/release/vitrine | tee Benchmarks/Results/thumbnailer.txt

.PHONY: bench-tiles
bench-tiles: setup ## Measures photographs of 100 megapixels, a tile at a time, beside libvips' dzsave: JPEG, progressive, PNG, TIFF.
	@Scripts/setup.sh bench-tiles
	for product in measure bench-tiles; do $(BENCHMARKS) --product $$product || exit 1; done
	@Scripts/make-large-photographs.sh .build/large
	set -o pipefail; .build/benchmarks/release/bench-tiles .build/large/photo*.* | tee Benchmarks/Results/tiles.txt

.PHONY: bench-pan
bench-pan: setup ## Moves a photograph of 100 megapixels about in a window for a minute: main thread, frames, memory.
	@Scripts/setup.sh bench-tiles
	$(RELEASE) --product vitrine-gallery
	@Scripts/make-large-photographs.sh .build/large
	set -o pipefail; folder=$$(mktemp -d); .build/release/vitrine-gallery .build/large/photo.jpg --pan --cache-dir "$$folder" \
		| tee Benchmarks/Results/pan.txt; status=$$?; rm -rf "$$folder"; exit $$status

.PHONY: bench-animation
bench-animation: setup ## Measures animations: late frames beside early ones, ten views beside one, the memory of fifty at once.
	$(BENCHMARKS) --product bench-animation
	set -o pipefail; .build/benchmarks/release/bench-animation | tee Benchmarks/Results/animation.txt

# Small files of the corpus, where it is.
ANIMATIONS := Examples/Photographs/boats-animated.gif Examples/Photographs/houses-animated.webp $(wildcard \
	$(VITRINE_CORPUS)/formats/tests/images/png/apng/ball.png $(VITRINE_CORPUS)/avif/tests/data/colors-animated-8bpc.avif)

.PHONY: bench-animation-window
bench-animation-window: setup ## Plays GIF, APNG, WebP and AVIF in a window: each frame's time beside its delay, and the cost of fifty at once.
	$(RELEASE) --product vitrine-gallery
	set -o pipefail; .build/release/vitrine-gallery --animations $(ANIMATIONS) --output .build/animations.png \
		| tee Benchmarks/Results/animation-window.txt

.PHONY: bench-processing
bench-processing: setup ## Compares resizing, blurring and rounding corners with libvips, Pillow and OpenCV; installs them if missing.
	@Scripts/setup.sh bench-processing
	@[ -x .build/pyvips/bin/python ] || { echo "bench-processing: installing the newest libvips of PyPI in .build/pyvips" && \
		/usr/bin/python3 -m venv .build/pyvips && .build/pyvips/bin/pip install -q 'pyvips[binary]'; } || \
		{ rm -rf .build/pyvips; echo "bench-processing: it cannot be installed, so it is left out"; }
	for product in measure vips-processing bench-processing; do $(BENCHMARKS) --product $$product || exit 1; done
	set -o pipefail; .build/benchmarks/release/bench-processing | tee Benchmarks/Results/processing.txt

.PHONY: bench-encoding
bench-encoding: setup ## Compares encoders with libvips, Pillow, cjpeg, cwebp, avifenc and cjxl; installs them if missing.
	@Scripts/setup.sh bench-encoding
	for product in measure vips-encoding bench-encoding; do $(BENCHMARKS) --product $$product || exit 1; done
	set -o pipefail; .build/benchmarks/release/bench-encoding | tee Benchmarks/Results/encoding.txt

.PHONY: bench-sandbox
bench-sandbox: setup ## Compares decoding in a sandbox with decoding in the program: processor time, first image, memory.
	$(RELEASE) --product vitrine-codecs
	$(BENCHMARKS) --product bench-sandbox
	set -o pipefail; { .build/benchmarks/release/bench-sandbox .build/release/vitrine-codecs; \
		printf '\nThe same where program and worker share a core:\n'; \
		taskset -c 0 .build/benchmarks/release/bench-sandbox .build/release/vitrine-codecs " px"; } \
		| tee Benchmarks/Results/sandbox.txt

.PHONY: bench-server
bench-server: setup ## Compares vitrine-server with thumbor and pyvips behind granian, by wrk: rate, latency, CPU, memory; installs them.
	@Scripts/setup.sh bench-server
	@[ -x .build/server-peers/bin/granian ] || { /usr/bin/python3 -m venv .build/server-peers && \
		.build/server-peers/bin/pip install -q thumbor 'pyvips[binary]' granian; }
	$(RELEASE) --product vitrine-server
	$(RELEASE) --product vitrine-codecs
	set -o pipefail; .build/server-peers/bin/python Scripts/bench-server.py .build/release/vitrine-server \
		| tee Benchmarks/Results/server.txt

.PHONY: bench-fleet
bench-fleet: setup ## Measures hits from memory, disk, Redis and S3, misses, and one to three servers with and without shared tiers.
	@Scripts/setup.sh bench-fleet
	$(RELEASE) --product vitrine-server
	$(RELEASE) --product vitrine-codecs
	set -o pipefail; /usr/bin/python3 Scripts/bench-fleet.py .build/release/vitrine-server | tee Benchmarks/Results/fleet.txt

# VITRINE_TRACES has the requests; without it they are made up.
.PHONY: estimate-fleet
estimate-fleet: ## Estimates what a hundred servers ask of Redis and S3, from the results of bench-fleet and from traces.
	set -o pipefail; /usr/bin/python3 Scripts/estimate-fleet.py Benchmarks/Results/fleet.txt \
		| tee Benchmarks/Results/fleet-estimate.txt

.PHONY: torture-fleet
torture-fleet: setup ## Measures the server while its Redis or its bucket is slow, paused, full, cut off or gone; SECONDS_EACH, TIERS, STATES narrow it.
	@Scripts/setup.sh test
	$(RELEASE) --product vitrine-server
	set -o pipefail; /usr/bin/python3 Scripts/torture-fleet.py .build/release/vitrine-server | tee Benchmarks/Results/fleet-faults.txt

.PHONY: conformance
conformance: setup ## Compares decoded images with other programs, by format; installs them if missing.
	@Scripts/setup.sh conformance
	$(RELEASE)
	$(BENCHMARKS) --product measure
	$(BENCHMARKS) --product conformance
	set -o pipefail; .build/benchmarks/release/conformance | tee Benchmarks/Results/conformance.txt

.PHONY: conformance-frames
conformance-frames: setup ## Compares all frames of animations, and their delays, with other programs; installs them if missing.
	@Scripts/setup.sh conformance
	$(BENCHMARKS) --product conformance
	set -o pipefail; .build/benchmarks/release/conformance frames | tee Benchmarks/Results/conformance-frames.txt

.PHONY: conformance-encoding
conformance-encoding: setup ## Has other programs read what Vitrine writes: pixels and metadata; installs them if missing.
	@Scripts/setup.sh conformance-encoding
	$(RELEASE) --product vitrine
	$(RELEASE) --product vitrine-codecs
	set -o pipefail; /usr/bin/python3 Scripts/conformance-encoding.py .build/release/vitrine \
		| tee Benchmarks/Results/conformance-encoding.txt

.PHONY: clean
clean: ## Removes all build products.
	rm -rf .build site demo gallery.png contact-sheet.png

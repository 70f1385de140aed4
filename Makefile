# make help lists the targets. What they do is in Scripts.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# Real files and traces for further tests and benchmarks, if they are available.
ifneq ($(wildcard ../shared/corpus),)
export VITRINE_CORPUS ?= $(abspath ../shared/corpus)
endif
ifneq ($(wildcard ../shared/traces),)
export VITRINE_TRACES ?= $(abspath ../shared/traces)
endif

# What was typed: some systems have a NAME in the environment.
name = $(if $(filter command,$(firstword $(origin NAME))),$(NAME))
# The programs to build and install. Apple's systems have the tool alone.
programs := $(strip vitrine $(if $(filter Linux,$(shell uname)),vitrine-codecs vitrine-gallery vitrine-server))

.PHONY: help
help: ## Lists the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\n'
	@printf '%s\n' "Parameters are variables: make check NAME=hostile-files COUNT=100." \
		"make demo shows PHOTOS=folder; make bench writes to RESULTS (Benchmarks/Results)." \
		"make install takes PREFIX (/usr/local), DESTDIR, STRIP=0 to keep symbols, and" \
		"PRODUCTS ($(programs))."

.PHONY: setup
setup: ## Installs missing system libraries, and says which and why.
	@Scripts/setup.sh

.PHONY: build
build: setup ## Builds the programs in release mode: .build/release/vitrine.
	@source Scripts/lib/common.sh && release $(or $(PRODUCTS),$(programs))

.PHONY: test
test: ## Runs all tests for Linux, those of widgets on a virtual display.
	@Scripts/test.sh

.PHONY: test-apple
test-apple: setup ## Tests the code for Apple's platforms over stubs of their frameworks.
	@Scripts/test-apple.sh

SWIFT_SOURCES := Package.swift Sources Tests Examples Benchmarks Snippets Fuzz

.PHONY: lint
lint: ## Checks formatting, comments and the project's own rules.
	swift format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	@Scripts/check-house.sh

.PHONY: format
format: ## Formats all Swift code in place, and the list of formats in README.md.
	swift format --in-place --recursive --parallel $(SWIFT_SOURCES)
	. Scripts/lib/formats.sh && perl -pi -e "s|^It reads .*:\$$|$$(formats_sentence)|" README.md

.PHONY: docs
docs: ## Builds the documentation: open site/index.html. ARCHIVE packs it.
	@Scripts/setup.sh docs
	@ARCHIVE="$(ARCHIVE)" Scripts/docs.sh

.PHONY: demo
demo: ## Opens the gallery. NAME=server, fleet or hello: other demos.
	@Scripts/lib/named.sh demo $(or $(name),gallery)

.PHONY: bench
bench: ## Runs benchmark NAME, often beside peers; without NAME lists them.
	@Scripts/lib/named.sh bench $(name)

.PHONY: check
check: ## Runs slow check NAME; without NAME lists them.
	@Scripts/lib/named.sh check $(name)

# Separate from the build, so that only copying needs the rights of root.
.PHONY: install
install: ## Installs the programs and their files, after make build.
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" PRODUCTS="$(or $(PRODUCTS),$(programs))" STRIP="$(or $(STRIP),1)" Scripts/install.sh install

.PHONY: uninstall
uninstall: ## Removes what make install has installed.
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" PRODUCTS="$(or $(PRODUCTS),$(programs))" Scripts/install.sh uninstall

.PHONY: deb
deb: build ## Makes Debian packages in .build/packages, for this release of Debian.
	@Scripts/setup.sh package && Scripts/package.sh deb

.PHONY: tarball
tarball: build ## Makes an archive of the programs in .build/packages.
	@Scripts/package.sh tarball

.PHONY: clean
clean: ## Removes all build products.
	rm -rf .build site demo gallery.png contact-sheet.png

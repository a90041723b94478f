# What people type. Every target does its own set-up; on a bare Debian 12 only Swift 6.3 must be there.
.DEFAULT_GOAL := help
VENV := .venv
SECONDS ?= 60
# What `make install` and `make package` take, and where they put it; the package's compression is one of dpkg-deb's.
BUILD ?= .build/release
PREFIX ?= /usr/local
DESTDIR ?=
PACKAGES ?= .build/packages
COMPRESSION ?= xz
# The bundle for machines without the Internet: auto makes it where apt can download what it needs, yes insists on it, no omits it.
BUNDLE ?= auto
# Swift's own libraries are linked in: a call of them is no call across libraries, and no machine needs to have them.
# No library calls back into the program, so it exports no symbols. Debug information would cost a tenth of the build's processor time, and is not in the package either.
RELEASE := swift build -c release --static-swift-stdlib -debug-info-format none -Xlinker --no-export-dynamic
.PHONY: help up release install package wheel test bench fuzz format clean toolchain packages-build packages-test packages-bench

help: ## Say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile

toolchain:
	@Scripts/check-toolchain

packages-build packages-test packages-bench: packages-%: toolchain
	@Scripts/install-packages $*

release: packages-build ## Build a release
	$(RELEASE) --product aldaba

install: ## Install what was built under PREFIX, DESTDIR in front of it
	Packaging/install $(BUILD) "$(DESTDIR)" $(PREFIX)

wheel: $(if $(filter .build/release,$(BUILD)),release) ## Make a Python wheel in dist; BUILD names another build's folder
	@Scripts/make-wheel $(BUILD)/aldaba

package: $(if $(filter .build/release,$(BUILD)),release) ## Make the Debian packages and the offline bundle (BUNDLE=no: no bundle); BUILD names another build's folder
	@Packaging/package $(BUILD) $(PACKAGES) $(COMPRESSION)
ifneq ($(BUNDLE),no)
	@Packaging/bundle $(PACKAGES)$(if $(filter yes,$(BUNDLE)),, || echo "package: the packages are made, the offline bundle is not" >&2)
endif

up: release ## Run the whole path on this machine
	@exec .build/release/aldaba up $(ARGUMENTS)

$(VENV)/installed: Tests/Interop/requirements.txt Tests/Interop/requirements-legacy.txt Tests/Interop/requirements-peers.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r Tests/Interop/requirements.txt
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VENV)/legacy -r Tests/Interop/requirements-legacy.txt
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VENV)/peers -r Tests/Interop/requirements-peers.txt
	@touch $@

test: packages-build packages-test $(VENV)/installed ## Run all tests, the foreign clients' included
	@Scripts/run-tests

bench: packages-build packages-bench $(VENV)/installed ## Measure beside nghttpd and the store, and the device
	for product in aldaba HubRate StoreRate ScheduleRate CenterRate MediaRate AudienceRate BareTLS SenderRate; do $(RELEASE) --product $$product || exit; done
	@Benchmarks/run
	@Benchmarks/deliver
	@$(VENV)/bin/python Benchmarks/sender
	@Benchmarks/schedule
	@$(VENV)/bin/python Benchmarks/audience
	@$(VENV)/bin/python Benchmarks/channel
	@$(VENV)/bin/python Benchmarks/console
	@$(VENV)/bin/python Benchmarks/inbox
	@$(VENV)/bin/python Benchmarks/device
	@$(VENV)/bin/python Benchmarks/due
	@$(VENV)/bin/python Benchmarks/media
	@$(VENV)/bin/python Benchmarks/cluster
	@$(VENV)/bin/python Benchmarks/hubs --installations 200000
	@Benchmarks/start

fuzz: packages-build ## Fuzz every decoder, SECONDS=60 each, in a build folder of its own
	@Scripts/fuzz $(SECONDS)

format: ## Format all Swift files
	swift format --in-place --parallel --recursive Package.swift Sources Tests Examples Benchmarks Fuzzing

clean: ## Remove everything that was built
	rm -rf .build .build-fuzz $(VENV)
